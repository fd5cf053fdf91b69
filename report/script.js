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

  // A long table shows its first rows, all of them on demand, or those that match.
  for (const long of document.querySelectorAll('.filtered')) {
    const rest = long.querySelector('.rest');
    const all = long.querySelector('.all');
    const input = long.querySelector('input');
    const status = long.querySelector('[role=status]');
    const rows = [...long.querySelectorAll('tbody tr')];
    for (const tool of long.querySelectorAll('.tools')) tool.hidden = false;
    const update = () => {
      const want = input.value.toLowerCase();
      let matches = 0;
      for (const row of rows) {
        row.hidden = want !== '' && ![...row.querySelectorAll('th, .find')].some((cell) => cell.textContent.toLowerCase().includes(want));
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
  const chosenNames = (section) => [...section.querySelectorAll('.chosen li')].map((li) => li.dataset.name ?? li.querySelector('.name').textContent);
  for (const button of document.querySelectorAll('.copy')) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const names = chosenNames(document.getElementById(button.dataset.of));
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
    const names = chosenNames(map.closest('.document'));
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

  // The map of the columns says which dot is under the pointer, or which one the arrow keys have reached.
  for (const map of document.querySelectorAll('.places')) {
    const svg = map.querySelector('svg');
    const names = map.dataset.names.split('\n');
    const dots = [...svg.querySelectorAll('circle:not([fill])')];
    const note = map.querySelector('.pointed');
    const hint = 'Point at a dot, or go from one to the next by the arrow keys.';
    let at = -1;
    const point = (to) => {
      dots[at]?.classList.remove('on');
      dots[to]?.classList.add('on');
      at = to;
      note.textContent = names[to] ?? hint;
    };
    point(-1);
    svg.tabIndex = 0;
    svg.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      point(at < 0 ? 0 : (at + step + dots.length) % dots.length);
    });
    svg.addEventListener('blur', () => point(-1));
    svg.addEventListener('pointerleave', () => point(-1));
    svg.addEventListener('pointermove', (event) => {
      const distances = dots.map((dot) => {
        const box = dot.getBoundingClientRect();
        return Math.hypot(box.x + box.width / 2 - event.clientX, box.y + box.height / 2 - event.clientY);
      });
      const least = Math.min(...distances);
      point(least < 14 ? distances.indexOf(least) : -1);
    });
  }

  // Tables are saved as CSV, and figures as PNG, in the colours of the page, with their titles and legends.
  const save = (name, blob) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const addButton = (caption, label, after, act) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'save';
    button.textContent = caption;
    button.setAttribute('aria-label', `${caption}: ${label}`);
    button.addEventListener('click', act);
    after.after(button);
  };
  const fileName = (element, label) => `${element.closest('section, details.document')?.id || 'report'}-${label}`.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 80);
  const cellText = (cell, column) => {
    if (cell.matches('td:not(.find)')) {
      const n = key(cell.parentElement, column);
      if (typeof n === 'number') return String(n);
    }
    const text = [...cell.querySelectorAll('bdi')].at(-1) ?? cell;
    return text.textContent;
  };
  const quote = (text) => {
    const safe = /^[=+@\t\r]|^-(?![0-9.]+(e[-+]?[0-9]+)?$)/.test(text) ? `'${text}` : text; // no formula in a spreadsheet
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  for (const table of document.querySelectorAll('.scroll table')) {
    const region = table.parentElement;
    addButton('Save CSV', region.ariaLabel, region, () => {
      const heads = [...table.tHead.rows[0].cells];
      const lines = [...table.rows].map((row) => [...row.cells].map((cell, column) => [cell, column]).filter(([, column]) => heads[column].tagName === 'TH')
        .map(([cell, column]) => quote(row === table.tHead.rows[0] ? cell.textContent : cellText(cell, column))).join(','));
      save(`${fileName(table, region.ariaLabel)}.csv`, new Blob(['\ufeff', lines.join('\r\n'), '\r\n'], { type: 'text/csv' }));
    });
  }
  // A picture has no style sheet: each element gets the colours that it is shown with.
  const picture = async (svg) => {
    const copy = svg.cloneNode(true);
    const box = svg.getBoundingClientRect();
    copy.setAttribute('xmlns', svg.namespaceURI);
    copy.setAttribute('width', box.width);
    copy.setAttribute('height', box.height);
    copy.setAttribute('font-family', 'Arial, Helvetica, sans-serif');
    const shown = svg.querySelectorAll('*');
    copy.querySelectorAll('*').forEach((element, i) => {
      const style = getComputedStyle(shown[i]);
      for (const name of ['fill', 'stroke', 'image-rendering']) element.setAttribute(name, style.getPropertyValue(name));
    });
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
    await image.decode();
    return [image, box.width, box.height];
  };
  const draw = async (figure, svg, title) => {
    const [image, width, height] = await picture(svg);
    const legend = [...figure.querySelectorAll('.legend li')];
    const canvas = document.createElement('canvas');
    const [pad, line, scale] = [16, 20, 2];
    canvas.width = scale * (width + 2 * pad);
    canvas.height = scale * (height + 2 * pad + line * (1.5 + legend.length));
    const to = canvas.getContext('2d');
    const colours = getComputedStyle(document.body);
    to.scale(scale, scale);
    to.fillStyle = colours.backgroundColor;
    to.fillRect(0, 0, canvas.width, canvas.height);
    to.fillStyle = colours.color;
    to.font = '600 14px Arial, Helvetica, sans-serif';
    to.fillText(title, pad, pad + 10, width);
    to.drawImage(image, pad, pad + line, width, height);
    to.font = '12px Arial, Helvetica, sans-serif';
    legend.forEach((item, i) => {
      const y = pad + line * (2.2 + i) + height;
      const swatch = item.querySelector('rect:last-of-type');
      to.fillStyle = swatch ? getComputedStyle(swatch).fill : colours.backgroundColor;
      to.fillRect(pad, y - 9, 10, 10);
      to.fillStyle = colours.color;
      to.fillText(item.textContent, pad + 18, y, width - 18);
    });
    return new Promise((done) => canvas.toBlob(done, 'image/png'));
  };
  for (const figure of document.querySelectorAll('figure')) {
    const pictures = [...figure.querySelectorAll('svg.chart, svg.map, svg.mask, svg.plane')];
    const wanted = () => pictures.find((svg) => svg.checkVisibility()) ?? pictures[0];
    if (pictures.length === 0 || figure.querySelector('.masks')) continue;
    const title = figure.querySelector('figcaption')?.textContent ?? figure.closest('section').querySelector('h3').textContent;
    addButton('Save PNG', title, pictures.at(-1), async () => save(`${fileName(figure, title)}.png`, await draw(figure, wanted(), title)));
  }

  // A link to a fold, or into one, opens it.
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let fold = target?.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    target?.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  if (location.hash) unfold();

  // On paper every fold is open.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')];
    for (const d of opened) d.open = true;
  });
  addEventListener('afterprint', () => {
    for (const d of opened) d.open = false;
    opened = [];
  });
})();
