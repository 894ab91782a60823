import { parseDomain } from '../../mime/address.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { CLASS_PROBLEM, type ClassName, isClassName } from '../mail-class.ts'
import type { Restrictions } from './api-key.ts'

/** Changes to restrictions: omitted fields are unchanged; null removes a restriction. */
export type RestrictionsChange = Partial<Restrictions>

const MAX_ENTRIES = 100
const MAX_PER_WINDOW = 1_000_000_000

/**
 * Returns the restrictions with the change applied. Throws parameterInvalid, which uses the parameter names of the HTTP
 * API.
 */
export function changedRestrictions(before: Restrictions, change: RestrictionsChange): Restrictions {
  /** The restriction as it was, without it, or as it is given. */
  function changed<Name extends keyof Restrictions>(
    name: Name,
    read: (given: NonNullable<Restrictions[Name]>) => Restrictions[Name],
  ): Restrictions[Name] | null {
    const given = change[name]
    if (given == null) return given === null ? null : before[name]
    return read(given as NonNullable<Restrictions[Name]>)
  }
  return {
    templates: changed('templates', knownTemplates),
    senderDomains: changed('senderDomains', (given) => domains('sender_domains', given)),
    recipientDomains: changed('recipientDomains', (given) => domains('recipient_domains', given)),
    recipientsPerHour: changed('recipientsPerHour', (given) => count('recipients_per_hour', given)),
    callsPerMinute: changed('callsPerMinute', (given) => count('calls_per_minute', given)),
    class: changed('class', className),
    keepContent: changed('keepContent', (given) => given),
    until: changed('until', future),
  }
}

/** Whether there are no restrictions. */
export function isUnrestricted(restrictions: Restrictions): boolean {
  return Object.values(restrictions).every((value) => value === null)
}

function knownTemplates(ids: readonly number[]): number[] {
  const isInvalid = ids.some((id) => !Number.isInteger(id) || id < 1 || id > 2 ** 31 - 1)
  if (isInvalid) throw wrongValue('templates', 'must be a list of template ids')
  return bounded('templates', ids)
}

function domains(name: string, written: readonly string[]): string[] {
  const parsed = written.map((text) => {
    const domain = parseDomain(text.trim())
    if (domain === undefined) throw wrongValue(name, 'must be a list of domain names')
    return domain
  })
  return bounded(name, parsed)
}

/**
 * Removes duplicates and checks the length. An empty list is rejected: the key could send nothing, which is better
 * expressed by its scopes.
 */
function bounded<T>(name: string, entries: readonly T[]): T[] {
  const unique = [...new Set(entries)]
  if (unique.length === 0 || unique.length > MAX_ENTRIES)
    throw wrongValue(name, `must have 1 to ${MAX_ENTRIES} entries`)
  return unique
}

function count(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 1 || value > MAX_PER_WINDOW)
    throw wrongValue(name, `must be a whole number from 1 to ${MAX_PER_WINDOW}`)
  return value
}

function className(of: string): ClassName {
  if (!isClassName(of)) throw wrongValue('class', CLASS_PROBLEM)
  return of
}

function future(until: Date): Date {
  const time = until.getTime()
  if (!(time > Date.now())) throw wrongValue('until', 'must be in the future')
  // Neither JSON nor the database writes later years with four digits.
  if (until.getUTCFullYear() > 9999) throw wrongValue('until', 'must be a time before the year 10000')
  return until
}

function wrongValue(name: string, problem: string): Error {
  return invalidParameter(`restrictions.${name}`, problem)
}
