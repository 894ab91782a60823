import { DELIVERY_STATES, type DeliveryState, MET, STATE_GROUPS } from '@postrider/core'
import { type Answer, file } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { messagesWords } from './messages-words.ts'
import { searchWords } from './search-words.ts'

/** A text instead of the last part of a search, and its meaning. */
type Suggestion = readonly [text: string, what: string]

const MAX_SUGGESTIONS = 8
const MAX_PART = 100

/** Suggestions for the part of a search that is being written, as JSON. */
export async function searchSuggestions(call: AccountCall): Promise<Answer> {
  const part = field(call.query, 'part').slice(0, MAX_PART)
  const found = await suggestionsFor(call, part)
  return file({
    type: 'application/json; charset=utf-8',
    body: JSON.stringify(found.filter(([text]) => text !== part).slice(0, MAX_SUGGESTIONS)),
    headers: { 'cache-control': 'no-store' },
  })
}

async function suggestionsFor(call: AccountCall, part: string): Promise<readonly Suggestion[]> {
  const isNegated = part.startsWith('-')
  const bare = isNegated ? part.slice(1) : part
  const colon = bare.indexOf(':')
  const found =
    colon === -1
      ? await ofWord(call, bare)
      : await ofKey(call, bare.slice(0, colon).toLowerCase(), bare.slice(colon + 1))
  return isNegated ? found.map(([text, what]): Suggestion => [`-${text}`, what]) : found
}

const begins = (text: string, beginning: string) => text.toLowerCase().startsWith(beginning.toLowerCase())

function states({ language }: AccountCall): Suggestion[] {
  const words = messagesWords(language)
  const { met, groups } = searchWords(language)
  return [
    ...(Object.keys(DELIVERY_STATES) as DeliveryState[]).map((one): Suggestion => [one, words.states[one]]),
    ...MET.map((one): Suggestion => [one, met[one]]),
    ...(Object.keys(STATE_GROUPS) as (keyof typeof STATE_GROUPS)[]).map((one): Suggestion => [one, groups[one]]),
  ]
}

async function ofKey(call: AccountCall, key: string, value: string): Promise<readonly Suggestion[]> {
  const { times } = searchWords(call.language)
  switch (key) {
    case 'state':
      return states(call)
        .filter(([state, what]) => begins(state, value) || begins(what, value))
        .map(([state, what]) => [`state:${state}`, what])
    case 'tag':
      return tags(call, value)
    case 'after':
    case 'before':
      return Object.entries(times)
        .filter(([time]) => begins(time, value))
        .map(([time, what]) => [`${key}:${time}`, key === 'after' ? what : ''])
    case 'has':
      return [['has:attachment', searchWords(call.language).help.has]]
    case 'door':
      return ['v2', 'v3', 'smtp'].filter((door) => begins(door, value)).map((door) => [`door:${door}`, ''])
    default:
      return []
  }
}

async function ofWord(call: AccountCall, word: string): Promise<readonly Suggestion[]> {
  const { help, of } = searchWords(call.language)
  const keys: readonly Suggestion[] = [
    ['to:', help.to],
    ['from:', help.from],
    ['subject:', help.subject],
    ['state:', help.state],
    ['after:', help.time],
    ['tag:', help.tag],
    ['ref:', help.ref],
    ['has:attachment', help.has],
  ]
  if (word === '') return keys
  if (/["„“”«»]/.test(word)) return []
  const meant = states(call).filter(([state, what]) => begins(state, word) || begins(what, word))
  return [
    ...keys.filter(([key]) => begins(key, word)),
    ...meant.map(([state, what]): Suggestion => [`state:${state}`, what]),
    ...(await tags(call, word)).slice(0, 3),
    [`subject:${word}`, of.subject],
    [`to:${word}`, of.to],
  ]
}

async function tags({ core, account, language }: AccountCall, prefix: string): Promise<Suggestion[]> {
  const names = await core.stats.tagNames({ accountId: account.id, prefix, limit: MAX_SUGGESTIONS })
  const { tag } = messagesWords(language)
  return names
    .filter((name) => !/["\\]/.test(name))
    .map((name) => [/\s/.test(name) ? `tag:"${name}"` : `tag:${name}`, tag])
}
