// Keeps a page at the state of its run: applies what the html face sends, from where the page
// was rendered, and finds its way back after every cut.
import {Idiomorph} from './idiomorph.js';

const root = document.querySelector('[data-run]');
const pill = document.getElementById('pill');
const news = document.getElementById('news');
const SUB = 's1', SILENCE_MS = 45000, FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 15000;
let cursor, seq, socket, heard, next, waited = 0, queue = [], flushing = 0, telling = 0, over = false, asked = 1, touched = false;

const stand = (at) => { cursor = at; seq = Number(at.split(':')[1]); };
const say = (state) => {
  pill.hidden = false;
  pill.className = `pill pill-${state}`;
  pill.textContent = pill.dataset[state];
};

// --- the page ------------------------------------------------------------------------------------
const keepOpen = (name, node) => !(name === 'open' && node.nodeName === 'DETAILS');
const morph = (old, fresh) => Idiomorph.morph(old, fresh, {
  morphStyle: 'outerHTML', callbacks: {beforeAttributeUpdated: keepOpen}, restoreFocus: true,
});
const isInUse = (node) => node.contains(document.activeElement) || node.querySelector('details[open]')
  || (!getSelection().isCollapsed && node.contains(getSelection().anchorNode));

function place(container, node) {
  const order = Number(node.dataset.order);
  let before = null;
  for (let at = container.lastElementChild; at && Number(at.dataset.order) > order; at = at.previousElementSibling) before = at;
  container.insertBefore(node, before);
}

function put({id, into, html}) {
  const holder = document.createElement('template');
  holder.innerHTML = html;
  const fresh = holder.content.firstElementChild;
  const old = document.getElementById(id), container = document.getElementById(into);
  if (!fresh || !container) return;
  if (old && old.parentElement === container && old.dataset.order === fresh.dataset.order) {
    if (isInUse(old)) morph(old, fresh); else old.replaceWith(fresh);
  } else {
    old?.remove();
    place(container, fresh);
  }
}

function add({id, text}) {
  const holder = document.getElementById(id)?.querySelector('[data-text]');
  if (!holder) return;
  if (!holder.firstChild) holder.append('');
  holder.firstChild.appendData(text);
}

const isAtEnd = (pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 80;
const toLive = document.getElementById('to-live');
const offerLive = () => {
  if (toLive) toLive.hidden = isAtEnd(toLive.parentElement) || !toLive.parentElement.querySelector('.is-streaming');
};

function flush() {
  flushing = 0;
  const followed = [...document.querySelectorAll('[data-follow]')].filter(isAtEnd);
  for (const op of queue.splice(0)) {
    if (op.op === 'text') add(op); else if (op.op === 'put') put(op); else document.getElementById(op.id)?.remove();
  }
  for (const pane of followed) pane.scrollTop = pane.scrollHeight;
  offerLive();
  const head = document.getElementById('run-head');
  if (head) document.title = head.dataset.title;
  telling ||= setTimeout(tell, 3000);
  tick();
}

// For who listens: where the run stands, every few seconds at most.
function tell() {
  telling = 0;
  const text = [...document.querySelectorAll('#run-head .status, .stage-active')].map((node) => node.textContent.trim()).join(', ');
  if (news && news.textContent !== text) news.textContent = text;
}

function tick() {
  for (const node of document.querySelectorAll('[data-since]')) {
    const s = Math.max(0, Math.floor((Date.now() - Number(node.dataset.since)) / 1000));
    node.textContent = s < 60 ? `${s} s` : `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
  }
}

async function refresh() {
  const response = await fetch(location.href, {headers: {Accept: 'text/html'}});
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.querySelector('[data-run]');
  if (!response.ok || response.redirected || !fresh) return location.reload();
  queue = []; // the page that came is newer than all of it
  for (const old of root.querySelectorAll('[data-container]')) {
    const now = fresh.querySelector(`#${CSS.escape(old.id)}`);
    if (now && old.isConnected) Idiomorph.morph(old, now.innerHTML, {morphStyle: 'innerHTML', callbacks: {beforeAttributeUpdated: keepOpen}});
  }
  stand(fresh.dataset.cursor);
  flush();
}

// --- the socket ----------------------------------------------------------------------------------
const send = (frame) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(frame));

function subscribe() {
  const {run, locale, window: size, lane} = root.dataset;
  const filter = lane ? {filter: {stream_token: [lane]}} : {};
  send({type: 'subscribe', id: asked++, sub: SUB, run, cursor, face: 'html', locale, window: Number(size), ...filter});
}

async function startAgain() {
  say('catching');
  socket.onmessage = null; // what still comes belongs to the page before
  try { await refresh(); } catch { /* the next connection asks again */ }
  socket?.close(1000);
}

const frames = {
  hello: subscribe,
  ack({sub, head}) {
    if (sub !== SUB) return;
    waited = 0;
    if (Number(head.split(':')[1]) - seq > Number(root.dataset.behind)) startAgain(); else say('live');
  },
  events({after, upto, ops}) {
    if (upto <= seq) return;
    if (after !== seq) return startAgain();
    stand(`${cursor.split(':')[0]}:${upto}`);
    queue.push(...ops);
    flushing ||= setTimeout(flush, 0);
    send({type: 'credit', sub: SUB, cursor});
  },
  gap: startAgain,
  complete() {
    over = true;
    say('ended');
    socket.close(1000);
    setTimeout(() => { if (!touched) toLive?.parentElement.scrollTo({top: 0, behavior: 'smooth'}); }, 0);
  },
  error({id, sub, code}) {
    if (id === null && sub !== SUB) return; // the socket's own end follows, and says more
    if (code === 'bad_cursor') return startAgain();
    over = code === 'not_found';
    if (over) say('offline');
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

// --- what a person does --------------------------------------------------------------------------
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (!form.matches('[data-quiet]')) return;
  event.preventDefault();
  const button = event.submitter;
  if (button) button.disabled = true; // until the server's own word replaces it
  try {
    const response = await fetch(form.action, {method: 'POST', body: new FormData(form)});
    if (!response.ok) throw new Error(String(response.status));
  } catch {
    form.submit();
  }
});

if (root) {
  stand(root.dataset.cursor);
  setInterval(tick, 1000);
  setInterval(() => { if (!over && Date.now() - heard > SILENCE_MS) socket?.close(); }, 5000);
  addEventListener('online', () => { if (!over && socket.readyState > 1) connect(); });
  toLive?.parentElement.addEventListener('scroll', offerLive, {passive: true});
  // Who only watched the report being written is shown where it begins when it is done.
  for (const name of ['wheel', 'touchstart', 'pointerdown', 'keydown']) toLive?.parentElement.addEventListener(name, () => { touched = true; }, {passive: true});
  toLive?.addEventListener('click', () => { toLive.parentElement.scrollTop = toLive.parentElement.scrollHeight; });
  say('connecting');
  connect();
  tick();
}
