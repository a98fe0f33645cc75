// Differences between two texts.

const mostCells = 4e6; // maximum size of the table of the longest common subsequence

// marked returns a text as nodes, with the parts that the other text lacks marked.
function marked(text, rival) {
  if (rival === undefined || rival === text) return [text];
  const a = wordsOf(text), b = wordsOf(rival || "");
  const kept = shared(a, b);
  if (!kept) return [text];
  const out = [];
  for (let i = 0; i < a.length;) {
    let end = i + 1;
    while (end < a.length && kept[end] === kept[i]) end++;
    const part = a.slice(i, end).join("");
    out.push(kept[i] ? part : el("mark", null, part));
    i = end;
  }
  return out;
}

function wordsOf(text) {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || [];
}

// shared returns for each word of a whether it is in the longest common subsequence
// with b, or null if computing it would take too long.
function shared(a, b) {
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const kept = new Array(a.length).fill(true);
  const x = a.slice(start, a.length - end), y = b.slice(start, b.length - end);
  if ((x.length + 1) * (y.length + 1) > mostCells) return null;
  commonWords(x, y).forEach((both, i) => { kept[start + i] = both; });
  return kept;
}

function commonWords(x, y) {
  const wide = y.length + 1;
  const table = new Uint16Array((x.length + 1) * wide);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      table[i * wide + j] = x[i] === y[j] ? table[(i + 1) * wide + j + 1] + 1 : Math.max(table[(i + 1) * wide + j], table[i * wide + j + 1]);
    }
  }
  const kept = new Array(x.length).fill(false);
  for (let i = 0, j = 0; i < x.length && j < y.length;) {
    if (x[i] === y[j]) { kept[i++] = true; j++; }
    else if (table[(i + 1) * wide + j] >= table[i * wide + j + 1]) i++;
    else j++;
  }
  return kept;
}

// unified shows a diff, styled by the first character of each line.
function unified(text) {
  const kinds = {"+": "added", "-": "removed", "@": "muted"};
  return el("pre", {class: "diff", tabindex: 0}, text.trimEnd().split("\n").map((one) => el("span", {class: /^(---|\+\+\+) /.test(one) ? "muted" : kinds[one[0]]}, one, "\n")));
}
