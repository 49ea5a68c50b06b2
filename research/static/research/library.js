// Sends files with progress: some at a time, each with its own outcome. Without it the form works.
import {tell} from './times.js';

const form = document.getElementById('upload');
const input = form.querySelector('#files');
const folder = form.querySelector('#folder');
const list = form.querySelector('.outcomes');
const state = form.querySelector('.upload-state');
const words = form.dataset;
const SIDE_BY_SIDE = 2;
const BATCH_BYTES = 4_000_000;
const BATCH_FILES = 25;
const LISTED = 300;

const queue = [];
let total = 0, done = 0, refused = 0, sentBytes = 0, allBytes = 0, running = 0;

form.querySelector('[data-plain]').hidden = true;
form.querySelector('.drop-hint').hidden = false;
input.required = false;
const chooser = form.querySelector('#choose-folder');
chooser.hidden = !('webkitdirectory' in folder);
chooser.addEventListener('click', () => folder.click());

function row(name) {
  const item = document.createElement('li');
  item.className = 'outcome';
  const called = document.createElement('span');
  called.className = 'outcome-name';
  const isolated = document.createElement('bdi');
  isolated.textContent = name;
  called.append(isolated);
  const said = document.createElement('span');
  said.className = 'outcome-said';
  said.textContent = words.waiting;
  const bar = document.createElement('progress');
  bar.max = 1;
  bar.value = 0;
  item.append(called, said, bar);
  if (list.children.length < LISTED) list.append(item);
  return item;
}

function settle(one, outcome) {
  done += 1;
  if (outcome.outcome === 'refused') {
    refused += 1;
    if (!one.row.isConnected) list.prepend(one.row); // beyond those listed: but this must be seen
  }
  one.row.classList.add(`outcome-${outcome.outcome}`);
  one.row.querySelector('progress')?.remove();
  const said = one.row.querySelector('.outcome-said');
  said.textContent = outcome.reason ? `${outcome.said}: ${outcome.reason} ` : outcome.said;
  if (outcome.code) {
    const code = document.createElement('code');
    code.textContent = outcome.code;
    said.append(code);
  }
  const name = one.row.querySelector('bdi');
  name.textContent = outcome.name || one.path;
  if (outcome.url) {
    const link = document.createElement('a');
    link.href = outcome.url;
    link.textContent = name.textContent;
    name.replaceChildren(link);
  }
}

function refuse(one, reason, code) {
  settle(one, {outcome: 'refused', said: words.refused, reason, code, name: one.path});
}

function show() {
  state.hidden = total === 0;
  const bar = state.querySelector('progress');
  // What is sent still has to be read: the last tenth stands for that.
  bar.value = allBytes ? Math.min(1, 0.9 * sentBytes / allBytes + 0.1 * done / total) : done / total;
  state.querySelector('[role=status]').textContent = words.summary
    .replace('{done}', done).replace('{total}', total).replace('{refused}', refused);
}

function take(files) {
  for (const {file, path} of files) {
    const one = {file, path, row: row(path)};
    total += 1;
    if (file.size > Number(words.maxFile)) refuse(one, words.tooLarge, 'too_large');
    else { queue.push(one); allBytes += file.size; }
  }
  show();
  next();
}

function batch() {
  const taken = [];
  let bytes = 0;
  while (queue.length && taken.length < Math.min(BATCH_FILES, Number(words.maxFiles))) {
    if (taken.length && bytes + queue[0].file.size > BATCH_BYTES) break;
    bytes += queue[0].file.size;
    taken.push(queue.shift());
  }
  return taken;
}

function next() {
  while (running < SIDE_BY_SIDE && queue.length) send(batch());
  if (!running && !queue.length && total) finish();
}

function send(taken) {
  running += 1;
  const data = new FormData();
  data.append('csrfmiddlewaretoken', form.elements.csrfmiddlewaretoken.value);
  for (const one of taken) {
    data.append('path', one.path);
    data.append('files', one.file, one.file.name);
  }
  const request = new XMLHttpRequest();
  let before = 0;
  request.upload.addEventListener('progress', (event) => {
    sentBytes += event.loaded - before;
    before = event.loaded;
    let left = event.loaded;
    for (const one of taken) {
      const share = one.file.size ? Math.min(1, left / one.file.size) : 1;
      left = Math.max(0, left - one.file.size);
      one.row.querySelector('progress').value = share;
      if (share === 1) one.row.querySelector('.outcome-said').textContent = words.reading;
    }
    show();
  });
  request.addEventListener('load', () => {
    const answer = request.response;
    if (request.status === 200 && Array.isArray(answer?.files)) {
      taken.forEach((one, index) => settle(one, answer.files[index]));
    } else if (request.responseURL.includes('/signin/') || request.status === 403) {
      for (const one of taken) refuse(one, words.signedOut, String(request.status));
    } else {
      const error = answer?.error;
      for (const one of taken) refuse(one, error?.message || words.error, error?.code || String(request.status));
    }
  });
  request.addEventListener('error', () => { for (const one of taken) refuse(one, words.gone, 'disconnected'); });
  request.addEventListener('loadend', () => { running -= 1; show(); next(); });
  request.open('POST', form.action);
  request.responseType = 'json';
  request.setRequestHeader('Accept', 'application/json');
  request.send(data);
}

// The lists below show what came in; what the reader has chosen or typed there may not be lost.
async function finish() {
  const here = document.getElementById('documents');
  if (here.querySelector('input:checked') || here.contains(document.activeElement)) return;
  const answer = await fetch(location.href, {headers: {Accept: 'text/html'}});
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const id of ['documents', 'sizes']) {
    const fresh = page.getElementById(id);
    if (fresh) document.getElementById(id).replaceWith(document.importNode(fresh, true));
  }
  tell(document.getElementById('documents'));
}

const plain = (files) => [...files].map((file) => ({file, path: file.webkitRelativePath || file.name}));
for (const source of [input, folder]) {
  source.addEventListener('change', () => {
    take(plain(source.files));
    source.value = '';
  });
}
form.addEventListener('submit', (event) => event.preventDefault());

async function* inside(entry, above) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
    yield {file, path: above + file.name};
    return;
  }
  const reader = entry.createReader();
  for (;;) { // a reader gives at most a hundred at a time
    const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (!some.length) return;
    for (const one of some) yield* inside(one, `${above}${entry.name}/`);
  }
}

addEventListener('dragover', (event) => {
  if (![...event.dataTransfer.types].includes('Files')) return;
  event.preventDefault();
  form.classList.add('is-over');
});
addEventListener('dragleave', (event) => { if (!event.relatedTarget) form.classList.remove('is-over'); });
addEventListener('drop', async (event) => {
  form.classList.remove('is-over');
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) { take(plain(event.dataTransfer.files)); return; }
  const files = [];
  for (const entry of entries) for await (const one of inside(entry, '')) files.push(one);
  take(files);
});
