// The page as the html face changes it: fragments put, grown and dropped, clocks, and the report
// that follows its end while its reader does.
import {Idiomorph} from './idiomorph.js';

const root = document.querySelector('[data-run]');
const news = document.getElementById('news');
const words = document.getElementById('pill')?.dataset ?? {};
const toLive = document.getElementById('to-live');
const LATE_S = 10;
let queue = [], flushing = 0, telling = 0, touched = false;

const keepOpen = (name, node) => !(name === 'open' && node.nodeName === 'DETAILS');
const morph = (old, fresh, morphStyle) => Idiomorph.morph(old, fresh, {
  morphStyle, callbacks: {beforeAttributeUpdated: keepOpen}, restoreFocus: true,
});
const isInUse = (node) => node.contains(document.activeElement) || node.querySelector('details[open]')
  || node.matches('details[open]') || (!getSelection().isCollapsed && node.contains(getSelection().anchorNode));

function place(container, node) {
  const order = Number(node.dataset.order);
  let before = null;
  for (let at = container.lastElementChild; at && Number(at.dataset.order) > order; at = at.previousElementSibling) before = at;
  container.insertBefore(node, before);
  if (root.dataset.folded && node.matches('.lane')) node.open = false;
}

function put({id, into, by, html}) {
  const holder = document.createElement('template');
  holder.innerHTML = html;
  const fresh = holder.content.firstElementChild;
  const old = document.getElementById(id);
  const container = document.getElementById(root.dataset.group === 'member' && by || into);
  if (!fresh || !container) return;
  if (old && old.parentElement === container && old.dataset.order === fresh.dataset.order) {
    if (isInUse(old)) morph(old, fresh, 'outerHTML'); else old.replaceWith(fresh);
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

// --- the report follows its end, until its reader looks elsewhere ---------------------------------
const isAtEnd = (pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 80;
const offerLive = () => {
  if (toLive) toLive.hidden = isAtEnd(toLive.parentElement) || !document.querySelector('#report .is-streaming');
};

function follow(pane) {
  pane.addEventListener('scroll', offerLive, {passive: true});
  for (const name of ['wheel', 'touchstart', 'pointerdown', 'keydown']) pane.addEventListener(name, () => { touched = true; }, {passive: true});
  toLive.addEventListener('click', () => { pane.scrollTop = pane.scrollHeight; });
}

// Who only watched is shown the report when it is done, where it begins.
let used = new URLSearchParams(location.search).has('pane');
for (const name of ['pointerdown', 'keydown']) addEventListener(name, () => { used = true; }, {passive: true});
export const showBeginning = () => setTimeout(() => {
  const [timeline, report] = ['show-timeline', 'show-report'].map((id) => document.getElementById(id));
  if (!used && timeline?.checked) report.checked = true;
  if (!touched) toLive?.parentElement.scrollTo({top: 0, behavior: 'smooth'});
}, 0);

// --- changes ------------------------------------------------------------------------------------
// setTimeout, since a hidden tab has no animation frames.
export function change(ops) {
  queue.push(...ops);
  flushing ||= setTimeout(flush, 0);
}

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
  document.dispatchEvent(new Event('page:changed'));
}

// What a newer rendering of this page shows takes the place of all that waits.
export function become(fresh) {
  queue = [];
  for (const old of root.querySelectorAll('[data-container]')) {
    const now = fresh.querySelector(`#${CSS.escape(old.id)}`);
    if (now && old.isConnected) morph(old, now.innerHTML, 'innerHTML');
  }
  flush();
}

// For who listens: where the run stands, every few seconds at most.
function tell() {
  telling = 0;
  const text = [...document.querySelectorAll('#run-head .status, .stage-active')].map((node) => node.textContent.trim().replace(/\s+/g, ' ')).join(', ');
  if (news && news.textContent !== text) news.textContent = text;
}

function tick() {
  for (const node of document.querySelectorAll('[data-since]')) {
    const s = Math.max(0, Math.floor((Date.now() - Number(node.dataset.since)) / 1000));
    const [m, rest] = [Math.floor(s / 60), String(s % 60).padStart(2, '0')];
    node.textContent = s < 60 ? words.seconds.replace('{s}', s) : words.minutes.replace('{m}', m).replace('{s}', rest);
    node.classList.toggle('is-late', s >= LATE_S);
  }
}

export function begin() {
  if (toLive) follow(toLive.parentElement);
  setInterval(tick, 1000);
  tick();
}
