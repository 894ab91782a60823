/** Names of helpers that other programs register, by ours that does the same. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  equals: ['eq', 'equal', 'ifeq', 'ifequal', 'ifequals', 'is', 'isequal', 'compare', 'ifcond'],
  notEquals: ['ne', 'neq', 'noteq', 'notequal', 'unlesseq', 'unlessequals', 'isnt'],
  greaterThan: ['gt', 'gte', 'greater', 'ifgt', 'isgreater'],
  lessThan: ['lt', 'lte', 'less', 'iflt', 'isless'],
  and: ['all', 'ifand', 'both'],
  or: ['any', 'ifor', 'either'],
  unless: ['not', 'ifnot'],
  length: ['len', 'size', 'count'],
  formatDate: ['date', 'dateformat', 'formattime', 'moment', 'datetime'],
  insert: ['default', 'fallback', 'ifnull', 'coalesce'],
}
const SAME = new Map(Object.entries(OTHERS).flatMap(([ours, names]) => names.map((name) => [name, ours])))
const ALL =
  'the helpers are if, unless, each, equals, notEquals, greaterThan, lessThan, and, or, length, formatDate and insert'

/** Says what to write instead of a helper that there is not. */
export function replacementOf(name: string): string {
  if (name === 'lookup') return 'give the value a name of its own in the data'
  const ours = SAME.get(name.toLowerCase())
  return ours === undefined ? ALL : `use ${ours}`
}
