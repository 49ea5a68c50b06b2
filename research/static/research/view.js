// What a reader has chosen to see of a run: which task, which member, folded or open, which sources.
// Filters are rules in a style sheet of their own, so that what comes later is filtered too, and
// the page itself stays as it is.
const root = document.querySelector('[data-run]');
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
const choices = [...root.querySelectorAll('select[data-rule], input[data-param]')];
const find = document.getElementById('find-source'), found = document.getElementById('found-sources');

// `{v}` in a rule's selector is what was chosen: what it names is hidden.
const ruleOf = (select) => (select.value === '' ? '' : `${select.dataset.rule.replaceAll('{v}', CSS.escape(select.value))} { display: none; }`);

function filter() {
  const rules = [...root.querySelectorAll('select[data-rule]')].map(ruleOf).filter(Boolean);
  sheet.replaceSync(rules.join('\n'));
  count();
}

// How many sources are shown; those that do not hold the words are out.
function count() {
  if (!find) return;
  const words = find.value.trim().toLocaleLowerCase();
  const sources = [...document.querySelectorAll('#sources > li')];
  for (const source of sources) {
    const isOut = words !== '' && !source.textContent.toLocaleLowerCase().includes(words);
    if (source.classList.contains('is-out') !== isOut) source.classList.toggle('is-out', isOut);
  }
  const isAll = words === '' && !root.querySelector('.sources-bar select:has(option:checked:not([value=""]))');
  const shown = isAll ? sources.length : sources.filter((source) => getComputedStyle(source).display !== 'none').length;
  found.textContent = isAll ? '' : found.dataset.shown.replace('{n}', shown).replace('{all}', sources.length);
}

// The options of a select are what is on the page: tasks, members, sites.
function offer() {
  for (const select of root.querySelectorAll('select[data-of]')) {
    const values = new Map();
    for (const node of root.querySelectorAll(select.dataset.of)) {
      const value = node.dataset[select.dataset.value];
      if (value) values.set(value, node.dataset[select.dataset.label] || value);
    }
    const wanted = [...values].map(([value, label]) => `${value}\n${label}`).join('\n');
    if (select.dataset.offered === wanted) continue;
    select.dataset.offered = wanted;
    const wish = select.value || chosen(select.dataset.param);
    select.replaceChildren(select.options[0], ...[...values].map(([value, label]) => new Option(label, value)));
    select.value = values.has(wish) ? wish : '';
    filter();
  }
}

// What was chosen stands in the address, so that a reload shows the same.
const chosen = (name) => new URLSearchParams(location.search).get(name) ?? '';

function remember(name, value) {
  const address = new URL(location);
  if (value) address.searchParams.set(name, value); else address.searchParams.delete(name);
  if (address.href !== location.href) history.replaceState(null, '', address);
  for (const link of root.querySelectorAll('[data-group-link]')) {
    address.searchParams.set('group', link.dataset.groupLink);
    link.href = address;
  }
}

function fold(button, isFolded) {
  root.dataset.folded = isFolded ? '1' : '';
  button.textContent = isFolded ? button.dataset.unfold : button.dataset.fold;
  for (const lane of root.querySelectorAll('.lane')) lane.open = !isFolded;
}

function closeMenus(which) {
  for (const menu of root.querySelectorAll('.menu[open]')) {
    if (!which(menu)) continue;
    if (menu.contains(document.activeElement)) menu.querySelector('summary').focus();
    menu.open = false;
  }
}

function begin() {
  for (const node of root.querySelectorAll('[data-with-script]')) node.hidden = false;
  for (const choice of choices) {
    const {param, rule} = choice.dataset;
    if (choice.type === 'radio' && chosen(param) === choice.value) choice.checked = true;
    choice.addEventListener('change', () => { if (param) remember(param, choice.value); if (rule) filter(); });
  }
  const button = root.querySelector('[data-fold]');
  button.addEventListener('click', () => {
    fold(button, root.dataset.folded !== '1');
    remember('fold', root.dataset.folded);
  });
  if (chosen('fold')) fold(button, true);
  find?.addEventListener('input', count);
  document.addEventListener('page:changed', () => { offer(); if (find?.value) count(); });
  document.addEventListener('click', ({target}) => closeMenus((menu) => !menu.contains(target)));
  document.addEventListener('keydown', ({key}) => { if (key === 'Escape') closeMenus(() => true); });
  // A list of contents that covers the text is put away when it has led there.
  root.addEventListener('click', ({target}) => { if (target.closest('.contents a')) target.closest('details').open = false; });
  offer();
  remember('group', chosen('group'));
}

begin();
