// The card of a citation: where there is room for it, also in a narrow window; Escape puts it away.
const GAP = 8, LINGER_MS = 200;
let open = null, leaving = 0;

const cardOf = (cite) => cite.querySelector('.cite-card');

function place() {
  const card = cardOf(open), at = open.querySelector('a').getBoundingClientRect();
  if (at.bottom < 0 || at.top > innerHeight) return hide();
  const {width, height} = card.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(at.left - width / 3, innerWidth - width - GAP));
  const isBelow = at.bottom + height + GAP < innerHeight || at.top < height + GAP;
  const top = isBelow ? Math.min(at.bottom, innerHeight - height - GAP) : at.top - height;
  card.style.left = `${left}px`;
  card.style.top = `${Math.max(GAP, top)}px`;
}

function show(cite) {
  clearTimeout(leaving);
  if (open === cite) return;
  hide();
  open = cite;
  cardOf(cite).classList.add('is-open');
  place();
}

function hide() {
  clearTimeout(leaving);
  if (!open) return;
  const card = cardOf(open);
  card?.classList.remove('is-open');
  card?.removeAttribute('style');
  open = null;
}

const leave = () => { clearTimeout(leaving); leaving = setTimeout(hide, LINGER_MS); };

document.documentElement.classList.add('places-cards');
document.addEventListener('pointerover', ({target, pointerType}) => {
  if (pointerType === 'touch') return;
  const cite = target.closest?.('.cite');
  if (cite) show(cite); else if (open && !open.contains(document.activeElement)) leave();
});
document.addEventListener('focusin', ({target}) => {
  const cite = target.closest('.cite');
  if (cite && target.matches(':focus-visible')) show(cite); else if (!cite) hide();
});
// A finger has no hover: the first touch shows the card, which leads to the passage.
document.addEventListener('click', (event) => {
  const cite = event.target.closest('.cite');
  if (!cite) return hide();
  if (event.pointerType === 'touch' && open !== cite) {
    event.preventDefault();
    show(cite);
  }
});
document.addEventListener('keydown', ({key}) => { if (key === 'Escape') hide(); });
document.addEventListener('scroll', () => { if (open) place(); }, {passive: true, capture: true});
document.addEventListener('page:changed', () => { if (open && !open.isConnected) open = null; });
