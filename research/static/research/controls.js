// What a person asks of a run. The page itself shows what has become of it, when the server says so;
// beside the buttons stands what the server answered. Without this script they are plain forms.
const said = document.getElementById('control-said');
const TRIES = 3, PAUSE_MS = 1500;
const REST_MS = 600; // a double click must not also press what takes the button's place
const freshKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, '0')).join('');

function say(text, isError = false) {
  said.replaceChildren();
  if (text) said.append(Object.assign(document.createElement('span'), {textContent: text, className: isError ? 'control-error' : ''}));
}

// The same key each time: what the server has done already is not done twice.
async function ask(address, body) {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await fetch(address, {method: 'POST', body, headers: {Accept: 'application/json'}});
    } catch (error) {
      if (left <= 1) throw error;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}

async function send(form, button) {
  const address = button?.getAttribute('formaction') || form.action;
  const response = await ask(address, new FormData(form));
  if (response.redirected || response.status === 403) return location.reload(); // signed out, perhaps
  const answer = await response.json();
  if (answer.leads) return location.assign(answer.leads);
  say(answer.says, !response.ok);
  if (response.ok) form.reset();
  form.elements.key.value = freshKey();
}

// Not `disabled`: that takes the focus from who works with the keyboard.
document.addEventListener('submit', async (event) => {
  const form = event.target, button = event.submitter;
  if (!form.matches('[data-control]')) return;
  event.preventDefault();
  if (form.dataset.busy) return;
  form.dataset.busy = '1';
  button?.setAttribute('aria-disabled', 'true');
  say('');
  try {
    await send(form, button);
  } catch {
    say(said.dataset.lost, true);
  }
  button?.removeAttribute('aria-disabled');
  setTimeout(() => { delete form.dataset.busy; }, REST_MS);
});

document.addEventListener('keydown', (event) => {
  const form = event.target.closest('.steer');
  if (form && event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(form.querySelector('button'));
  }
});
