// columns.js - lists of objects that came column by column, as GET /v1/decisions/{id} gives
// them with lists=columns: {count, columns: {name: {values, at, index}}}. A table is such a list.

// The values of a column with `at` by element; undefined where an object lacks the member.
function spread({ values, at, index }, count) {
  const full = new Array(count).fill(undefined);
  for (let k = 0; k < at.length; k++) full[at[k]] = values.length === 1 ? values[0] : values[index ? index[k] : k];
  return full;
}

// {count, columns: [{name, values, index, one}]}: the value of element i is values[0] if there
// is one, values[index[i]] if there is an index, else values[i].
export function tableOf(list) {
  return { count: list.count, columns: Object.entries(list.columns).map(([name, c]) =>
    c.at ? { name, values: spread(c, list.count), index: null, one: false } : { name, values: c.values, index: c.index || null, one: c.values.length === 1 }) };
}

const valueAt = (c, i) => c.one ? c.values[0] : c.values[c.index ? c.index[i] : i];

export function rowAt(table, i) {
  const row = {};
  for (const c of table.columns) { const v = valueAt(c, i); if (v !== undefined) row[c.name] = v; }
  return row;
}
const rowsOf = (table) => Array.from({ length: table.count }, (x, i) => rowAt(table, i));

// Calls f with each row and its number. It is one object, of which f keeps nothing.
export function eachRow(table, f) {
  const row = {}, columns = table.columns.filter((c) => { row[c.name] = c.values[0]; return !c.one; });
  for (let i = 0; i < table.count; i++) {
    for (const { name, values, index } of columns) row[name] = values[index ? index[i] : i];
    f(row, i);
  }
}

// All values of a column, each of an index once.
export function valuesOf(table, name) {
  const column = table.columns.find((c) => c.name === name);
  return column ? column.values : [];
}

// Puts the lists of a decision where they belong: {answer, tables}. Long ones stay tables, if
// `may` says so of their names and tables.
export function joined(decision, long, may) {
  const answer = { ...decision.answer }, tables = {};
  for (const [name, list] of Object.entries(decision.answer_columns || {})) {
    const table = tableOf(list);
    if (table.count > long && may(name, table)) tables[name] = table; else answer[name] = rowsOf(table);
  }
  return { answer, tables };
}

// With the tables as lists of rows again.
export const whole = (answer, tables) => ({ ...answer, ...Object.fromEntries(Object.entries(tables || {}).map(([name, table]) => [name, rowsOf(table)])) });
