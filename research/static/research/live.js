// Keeps a page at the state of its run: takes what the html face sends, from where the page was
// rendered, and finds its way back after every cut.
import {become, begin, change, showBeginning} from './page.js';

const root = document.querySelector('[data-run]');
const pill = document.getElementById('pill');
const SUB = 's1', SILENCE_MS = 45000, FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 15000, SHOWN_BEHIND = 20;
let cursor, seq, target = 0, socket, heard, next, waited = 0, over = false, asked = 1;

const seqOf = (at) => Number(at.split(':')[1]);
const stand = (at) => { cursor = at; seq = seqOf(at); };
const say = (state, n = 0) => {
  pill.hidden = false;
  pill.className = `pill pill-${state}`;
  const text = pill.dataset[state].replace('{n}', n);
  if (pill.textContent !== text) pill.textContent = text;
};
const sayHowFar = () => (target - seq > SHOWN_BEHIND ? say('catching', target - seq) : say('live'));

async function refresh() {
  const response = await fetch(location.href, {headers: {Accept: 'text/html'}});
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.querySelector('[data-run]');
  if (!response.ok || response.redirected || !fresh) return location.reload();
  become(fresh);
  stand(fresh.dataset.cursor);
}

// --- the socket ----------------------------------------------------------------------------------
const send = (frame) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(frame));

function subscribe() {
  const {run, locale, window: size, lane} = root.dataset;
  const filter = lane ? {filter: {stream_token: [lane]}} : {};
  send({type: 'subscribe', id: asked++, sub: SUB, run, cursor, face: 'html', locale, window: Number(size), ...filter});
}

async function startAgain() {
  say('catching', Math.max(0, target - seq));
  socket.onmessage = null; // what still comes belongs to the page before
  try { await refresh(); } catch { /* the next connection asks again */ }
  socket?.close(1000);
}

const frames = {
  hello: subscribe,
  ack({sub, head}) {
    if (sub !== SUB) return;
    waited = 0;
    target = seqOf(head);
    if (target - seq > Number(root.dataset.behind)) startAgain(); else sayHowFar();
  },
  events({after, upto, ops}) {
    if (upto <= seq) return;
    if (after !== seq) return startAgain();
    stand(`${cursor.split(':')[0]}:${upto}`);
    change(ops);
    send({type: 'credit', sub: SUB, cursor});
    sayHowFar();
  },
  heartbeat({heads}) {
    if (heads[SUB]) target = seqOf(heads[SUB]);
    sayHowFar();
  },
  gap: startAgain,
  complete() {
    over = true;
    say('ended');
    socket.close(1000);
    showBeginning();
  },
  error({id, sub, code}) {
    if (id === null && sub !== SUB) return; // the socket's own end follows, and says more
    if (code === 'bad_cursor') return startAgain();
    over = code === 'not_found';
    if (over) say('gone');
    socket.close(1000);
  },
};

// The page itself leads to the sign-in; a page that is let in while its socket is not must not spin.
function signIn() {
  say('offline');
  const before = Number(sessionStorage.getItem('left'));
  sessionStorage.setItem('left', String(Date.now()));
  if (Date.now() - before > 60000) location.reload();
}

function connect() {
  clearTimeout(next);
  heard = Date.now();
  socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws/v1/`, 'soundings.v1');
  socket.onmessage = ({data}) => {
    heard = Date.now();
    const frame = JSON.parse(data);
    frames[frame.type]?.(frame);
  };
  socket.onclose = ({code}) => {
    if (over) return;
    if (code === 4401 || code === 4419) return signIn();
    if (code === 4400 || code === 4403 || code === 4406) return say('offline');
    say(navigator.onLine ? 'reconnecting' : 'offline');
    waited = Math.min(LONGEST_WAIT_MS, waited * 2 || FIRST_WAIT_MS);
    next = setTimeout(connect, waited * (0.5 + Math.random() / 2));
  };
}

if (root) {
  stand(root.dataset.cursor);
  setInterval(() => { if (!over && Date.now() - heard > SILENCE_MS) socket?.close(); }, 5000);
  addEventListener('online', () => { if (!over && socket.readyState > 1) connect(); });
  begin();
  say('connecting');
  connect();
}
