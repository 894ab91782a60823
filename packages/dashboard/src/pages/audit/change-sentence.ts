import type { AuditEntry, AuditValues } from '@postrider/core'
import { foreign, type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { scopeWords } from '../keys/scope-words.ts'
import { changeWords } from './change-words.ts'

/** Characters of a name in a sentence, and names of changed values. */
const MAX_NAME = 100
const MAX_CHANGED = 6

/** A change as a sentence: who did what, and what a key may do or which values changed. */
export function changeSentence(call: AccountCall, entry: AuditEntry): Html {
  const words = changeWords(call.language)
  const did: Readonly<Record<string, (what: string) => string>> = words.did
  const what = nameOf(entry, words.quoted)
  const sentence = Object.hasOwn(did, entry.action)
    ? (did[entry.action] as (what: string) => string)(what)
    : words.other(entry.action, what)
  const more = detailOf(call, entry)
  const said = html`<span class="any"><b>${foreign(authorOf(call, entry))}</b> ${foreign(sentence)}.</span>`
  const notes = [entry.agent === null ? undefined : words.through(entry.agent), more]
  return html`${said}${notes.map((note) => note && html`<small class="any">${foreign(note)}</small>`)}`
}

/** The name of the author: a user, a key, or the operator. */
export function authorOf({ language }: AccountCall, { keyId, keyName, userId, userName }: AuditEntry): string {
  const words = changeWords(language)
  if (userId !== null) return userName ?? words.userNumber(userId)
  if (keyId === null) return words.operator
  return keyName ? words.keyNamed(keyName.slice(0, MAX_NAME)) : words.keyNumber(keyId)
}

/** The name of a thing after the change or before it; without one what the log calls it, without its kind. */
function nameOf({ after, before, object }: AuditEntry, quoted: (name: string) => string): string {
  const name = textOf(after, 'name') ?? textOf(before, 'name') ?? textOf(after, 'email')
  if (name) return quoted(name.slice(0, MAX_NAME))
  return object.slice(object.lastIndexOf(' ') + 1, MAX_NAME)
}

function textOf(values: AuditValues | null, name: string): string | undefined {
  const value = values && Object.hasOwn(values, name) ? values[name] : undefined
  return typeof value === 'string' ? value : undefined
}

function detailOf({ language }: AccountCall, { action, after, before }: AuditEntry): string | undefined {
  const words = changeWords(language)
  if (action === 'key.create' && Array.isArray(after?.scopes)) {
    const names: Readonly<Record<string, string>> = scopeWords(language).names
    return words.may(after.scopes.map((scope) => names[String(scope)] ?? String(scope)).join(', '))
  }
  if (!before || !after) return undefined
  // The sentence says already that a key was revoked or restored.
  const changed = Object.keys(after).filter(
    (name) => name !== 'revokedAt' && JSON.stringify(after[name]) !== JSON.stringify(before[name]),
  )
  return changed.length > 0 ? words.changed(changed.slice(0, MAX_CHANGED).join(', ')) : undefined
}
