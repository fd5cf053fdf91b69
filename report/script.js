'use strict';
// What the page can do beyond being read; without this script it is complete, unfolded.
(() => {
  const root = document.documentElement;

  // Light or dark, from what the system prefers.
  const theme = document.getElementById('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
  const show = () => {
    theme.textContent = dark() ? 'Light colours' : 'Dark colours';
    theme.setAttribute('aria-pressed', String(Boolean(root.dataset.theme)));
  };
  theme.addEventListener('click', () => { root.dataset.theme = dark() ? 'light' : 'dark'; show(); });
  system.addEventListener('change', show);
  theme.hidden = false;
  show();

  // Tables sort by the button in the head of a column; numbers stand in data-v.
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent.trim().replaceAll(',', '').replaceAll('−', '-');
    const n = parseFloat(text);
    return Number.isNaN(n) || cell.tagName === 'TH' ? (cell.tagName === 'TH' ? cell.textContent : text) : n;
  };
  const compare = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a.localeCompare(b, 'en', { numeric: true });
  };
  for (const table of document.querySelectorAll('table.sortable')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.tagName !== 'TH') return;
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        for (const other of heads) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const bodies = [...table.tBodies];
        const first = bodies[0].rows.length;
        const rows = bodies.flatMap((body) => [...body.rows]).map((row) => [key(row, column), row]);
        rows.sort((a, b) => down ? compare(b[0], a[0]) : compare(a[0], b[0]));
        rows.forEach(([, row], i) => bodies[i < first ? 0 : 1].append(row));
      });
    });
  }

  // A ranking shows its first rows, all of them on demand, or those that match.
  for (const ranking of document.querySelectorAll('.ranking')) {
    const rest = ranking.querySelector('.rest');
    const all = ranking.querySelector('.all');
    const input = ranking.querySelector('input');
    const status = ranking.querySelector('[role=status]');
    const rows = [...ranking.querySelectorAll('tbody tr')];
    for (const tool of ranking.querySelectorAll('.tools')) tool.hidden = false;
    const update = () => {
      const want = input.value.toLowerCase();
      let matches = 0;
      for (const row of rows) {
        row.hidden = want !== '' && !row.querySelector('th').textContent.toLowerCase().includes(want);
        if (!row.hidden) matches++;
      }
      status.textContent = want === '' ? '' : `${matches} of ${rows.length} match`;
      if (rest) rest.hidden = want === '' && all.getAttribute('aria-expanded') !== 'true';
    };
    input.addEventListener('input', update);
    if (all) {
      const more = all.textContent;
      all.addEventListener('click', () => {
        const open = all.getAttribute('aria-expanded') === 'true';
        all.setAttribute('aria-expanded', String(!open));
        all.textContent = open ? more : 'Show fewer';
        update();
      });
    }
    update();
  }

  // The names of the chosen features, one a line.
  const write = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // no permission, or no secure context
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand('copy');
      area.remove();
      if (!done) throw new Error('the browser does not copy');
    }
  };
  for (const button of document.querySelectorAll('.copy')) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const items = document.querySelectorAll(`#${button.dataset.of} .chosen li`);
      const names = [...items].map((li) => li.dataset.name ?? li.textContent);
      try {
        await write(names.join('\n') + '\n');
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not copied';
      }
      button.focus();
      setTimeout(() => { button.textContent = label; }, 2000);
    });
  }

  // The map of correlations says what is under the pointer.
  for (const map of document.querySelectorAll('.map')) {
    const k = Number(map.dataset.k);
    const values = map.dataset.r.split(' ');
    const note = map.parentElement.querySelector('.pointed');
    const rest = note.textContent;
    const names = [...map.closest('.document').querySelectorAll('.chosen li')].map((li) => li.textContent);
    const image = map.querySelector('image');
    image.addEventListener('pointermove', (event) => {
      const box = image.getBoundingClientRect();
      const at = (x) => Math.min(k - 1, Math.max(0, Math.floor(k * x)));
      const row = at((event.clientY - box.top) / box.height);
      const column = at((event.clientX - box.left) / box.width);
      const [i, j] = [Math.max(row, column), Math.min(row, column)];
      const r = i === j ? '1' : values[i * (i - 1) / 2 + j];
      note.textContent = `${names[j]} and ${names[i]}: ${r}`;
    });
    image.addEventListener('pointerleave', () => { note.textContent = rest; });
  }

  // A link to a fold, or into one, opens it.
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let fold = target?.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    target?.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  if (location.hash) unfold();

  // On paper every fold is open, but for the members of the groups, which are very many.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open], .groups > li > details)')];
    for (const d of opened) d.open = true;
  });
  addEventListener('afterprint', () => {
    for (const d of opened) d.open = false;
    opened = [];
  });
})();
