import { ServiceError } from '../../platform/errors.ts'

/** The problem of a search. Its texts are here in English, and in the dashboard in the page's language. */
export interface SearchProblem {
  readonly name: keyof typeof TEXTS
  /** The part of the search that is wrong, as it was written; empty if it is the whole. */
  readonly part: string
  /** The valid values: a list or a number. */
  readonly allowed: string
}

/** Predicates that follow the name of the parameter, or the part of the search. */
const TEXTS = {
  tooLong: 'must have at most {allowed} characters',
  tooMany: 'must have at most {allowed} parts',
  unknownKey: 'is not a key; use {allowed}, or put the text in quotes',
  noValue: 'has no value',
  noWord: 'has no letter and no digit to look for',
  unclosed: 'the closing quote is missing',
  afterQuote: 'a blank must follow the quote',
  noBeginning: 'does not take a beginning; leave out the *',
  twice: 'the search has more than one condition of this kind; use one',
  notDomain: 'must be a domain name',
  notState: 'must be one or several of {allowed}',
  notOneOf: 'must be {allowed}',
  notTime: 'must be a time such as 2h, 3d, today, yesterday, 2026-01-31 or 2026-01-31T12:00Z',
  notNegated: 'cannot be excluded; leave out the -',
  nul: 'must not contain NUL',
} as const

/** An invalid search: parameterInvalid, with the problem apart from its text. */
export class SearchError extends ServiceError {
  readonly problem: SearchProblem

  constructor(parameter: string, problem: SearchProblem) {
    const text = TEXTS[problem.name].replace('{allowed}', problem.allowed)
    const isKey = problem.name === 'unknownKey' || problem.name === 'noValue' || problem.name === 'noWord'
    const said = problem.part === '' ? text : `${problem.part}${isKey ? '' : ':'} ${text}`
    super('parameterInvalid', { values: { parameter, problem: said } })
    this.problem = problem
  }
}

export type Wrong = (name: SearchProblem['name'], allowed?: string) => SearchError

/** A part of the search in an error: not all of a long one. */
export function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
