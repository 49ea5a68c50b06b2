// Small comforts of home: the composer's keys, and a list that shows how its runs come on.
// Without them the form and the list work as they are.
import {Idiomorph} from './idiomorph.js';
import {tell} from './times.js';

const form = document.getElementById('composer'), runs = document.getElementById('runs');
const LOOK_MS = 4000;

form.elements.topic.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
form.addEventListener('submit', () => {
  const button = form.querySelector('button[type=submit]');
  setTimeout(() => { button.disabled = true; });
});
addEventListener('pageshow', () => { form.querySelector('button[type=submit]').disabled = false; });

async function look() {
  if (document.visibilityState === 'visible' && runs.querySelector('[data-active]')) {
    try {
      const response = await fetch(location.href, {headers: {Accept: 'text/html'}});
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      const fresh = page.getElementById('runs');
      if (fresh) {
        tell(fresh);
        Idiomorph.morph(runs, fresh.innerHTML, {morphStyle: 'innerHTML'});
      }
    } catch { /* the next look may do better */ }
  }
  setTimeout(look, LOOK_MS);
}

setTimeout(look, LOOK_MS);
