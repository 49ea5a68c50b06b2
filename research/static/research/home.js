// Small comforts of the composer; without them the form works as it is.
const form = document.getElementById('composer');
form.elements.topic.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
form.addEventListener('submit', () => {
  const button = form.querySelector('button[type=submit]');
  setTimeout(() => { button.disabled = true; });
});
addEventListener('pageshow', () => { form.querySelector('button[type=submit]').disabled = false; });
