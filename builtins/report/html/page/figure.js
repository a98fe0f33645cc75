// Number formats.

function fixed(x, digits) {
  return x.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

function count(n) {
  return (n || 0).toLocaleString("en");
}

function plural(n, word) {
  return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

// percent formats a rate. Only 1 is shown as 100%, only 0 as 0%.
function percent(x) {
  const p = 100 * x || 0;
  return fixed(p < 100 ? Math.min(p && Math.max(p, 0.1), 99.9) : p, 1) + "%";
}

// points formats a difference of rates.
function points(x) {
  return signed(x * 100, (v) => fixed(v, 1)) + " points";
}

function signed(x, write) {
  const text = write(Math.abs(x));
  if (x && (text[0] === "<" || !/[1-9]/.test(text))) return "≈ 0"; // less than the shown precision
  return (x > 0 ? "+" : x < 0 ? "−" : "±") + text;
}

function money(x) {
  return "$" + fixed(x || 0, 4);
}

// span formats a duration. A number and its unit stay on one line.
function span(ms) {
  if (!ms) return "0\u00a0ms";
  if (ms < 1) return "<1\u00a0ms";
  if (ms < 1000) return Math.round(ms) + "\u00a0ms";
  if (ms < 60000) return fixed(ms / 1000, ms < 10000 ? 2 : 1) + "\u00a0s";
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)}\u00a0min ${s % 60}\u00a0s`;
  return `${Math.floor(s / 3600)}\u00a0h ${Math.floor(s / 60) % 60}\u00a0min`;
}

function seconds(s) {
  return span(s * 1000);
}

// amount formats a number of tokens.
function amount(n) {
  if (!n) return "0";
  if (n < 1000) return String(Math.round(n));
  return n < 1e6 ? fixed(n / 1e3, 1) + "k" : fixed(n / 1e6, 1) + "M";
}

function score(x) {
  return fixed(x || 0, 2);
}

function when(text) {
  return text && !text.startsWith("0001") ? text.replace("T", " ").replace(/(:\d\d)\.\d+/, "$1").replace("Z", " UTC") : "";
}

// short returns the abbreviated form of a digest.
function short(digest) {
  const text = String(digest || "");
  const hex = text.slice(text.indexOf(":") + 1);
  return hex ? el("code", {title: text}, hex.slice(0, 12)) : null;
}

function variantName(name) {
  return name || "(default)";
}

// quantile returns a quantile of a sorted list by nearest rank, like the quantiles
// in the report.
function quantile(sorted, q) {
  return sorted[Math.max(0, Math.ceil(q * sorted.length - 1e-9) - 1)];
}
