// Shows times as the reader's own clock does.
for (const node of document.querySelectorAll('time[data-time]')) {
  const short = {dateStyle: 'medium', timeStyle: 'short'};
  node.textContent = new Date(node.dateTime).toLocaleString(document.documentElement.lang, short);
}
