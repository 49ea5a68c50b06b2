// Shows times as the reader's own clock does.
export function tell(root) {
  for (const node of root.querySelectorAll('time[data-time]')) {
    const short = {dateStyle: 'medium', timeStyle: 'short'};
    node.textContent = new Date(node.dateTime).toLocaleString(document.documentElement.lang, short);
  }
}

tell(document);
