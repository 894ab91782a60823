import { defined } from '../../platform/defined.ts'
import { type BackOffRule, type LocatedRule, MAX_LIMIT, readRule } from './back-off-rule.ts'
import { Entry, type Located } from './entry.ts'
import { ProvidersError } from './providers-error.ts'
import type { MessageRate } from './units.ts'
import { parseYaml, type YamlNode } from './yaml-tree.ts'

/** A mailbox provider: hosts that share limits. */
export interface Provider {
  readonly name: string
  /** Suffixes with a leading dot, which stand for every host below them, and host names; lower case. */
  readonly mx: readonly string[]
  /** Maximum connections at the same time, over all workers. */
  readonly connections?: number
  readonly messagesPerConnection?: number
  readonly rate?: MessageRate
  readonly tlsRequired: boolean
  readonly rules: readonly BackOffRule[]
  /** Where the figures are from. */
  readonly source?: string
  /** The page on which the provider takes questions of senders. */
  readonly contact?: string
}

/** A provider with its positions in a file. */
export interface LocatedProvider {
  readonly name: Located
  readonly suffixes: readonly Located[]
  readonly rules: readonly LocatedRule[]
  readonly provider: Provider
}

/** The content of one file, in its order; or of several, combined. */
export interface ProviderFile {
  readonly providers: readonly LocatedProvider[]
  /** The general rules. */
  readonly rules: readonly LocatedRule[]
}

const MAX_PROVIDERS = 1000
const MAX_RULES = 200
const MAX_SUFFIXES = 1000
const KEYS = ['name', 'mx', 'connections', 'messagesPerConnection', 'rate', 'tls', 'source', 'contact', 'rules']

/** Parses a file of providers. Throws {@link ProvidersError} for the first thing in it that is invalid. */
export function parseProviderFile(text: string, file: string): ProviderFile {
  const entry = new Entry(parseYaml(text, file), 'the file', ['providers', 'rules'])
  const parsed = {
    rules: entry.list('rules', MAX_RULES).map(readRule),
    providers: entry.list('providers', MAX_PROVIDERS).map(readProvider),
  }
  requireDistinct(parsed)
  return parsed
}

/**
 * Throws {@link ProvidersError} if two providers have the same name or suffix, or two rules the same id. The error is about the later
 * one, and those of a later file are later.
 */
export function requireDistinct(...files: readonly ProviderFile[]): void {
  const providers = files.flatMap((file) => file.providers)
  const rules = files.flatMap((file) => [...file.rules, ...file.providers.flatMap((provider) => provider.rules)])
  refuseSecond(rules.map(({ id }) => ({ key: id, owner: '' })))
  refuseSecond(providers.map(({ name }) => ({ key: name, owner: '' })))
  refuseSecond(
    providers.flatMap(({ name, suffixes }) => suffixes.map((key) => ({ key, owner: ` of provider ${name.text}` }))),
  )
}

function refuseSecond(all: readonly { readonly key: Located; readonly owner: string }[]): void {
  const seen = new Map<string, { key: Located; owner: string }>()
  for (const one of all) {
    const { file, line, text } = one.key
    const first = seen.get(text)
    if (first) {
      const where = `${first.key.file === file ? '' : `${first.key.file}, `}line ${first.key.line}${first.owner}`
      throw new ProvidersError(file, line, `"${text}" is already used in ${where}; it must be unique`)
    }
    seen.set(text, one)
  }
}

function readProvider(node: YamlNode): LocatedProvider {
  const entry = new Entry(node, 'a provider', KEYS)
  const name = entry.text('name')
  if (!/^[a-z0-9-]{1,40}$/.test(name.text)) throw entry.problem('name', '"name" must be 1 to 40 of a-z, 0-9 and -')
  if (!entry.has('mx')) throw entry.problem('mx', 'a provider must have the key "mx"; write [] if it has no hosts')
  const suffixes = entry.texts('mx', MAX_SUFFIXES).map(readSuffix)
  const rules = entry.list('rules', MAX_RULES).map(readRule)
  const limit = (key: string): number | undefined => (entry.has(key) ? entry.whole(key, 1, MAX_LIMIT) : undefined)
  const provider = {
    name: name.text,
    mx: suffixes.map(({ text }) => text),
    tlsRequired: entry.has('tls') && entry.oneOf('tls', ['required']) === 'required',
    rules: rules.map(({ rule }) => rule),
    ...defined({
      connections: limit('connections'),
      messagesPerConnection: limit('messagesPerConnection'),
      rate: entry.has('rate') ? entry.rate('rate') : undefined,
      source: entry.has('source') ? entry.text('source').text.trim() : undefined,
      contact: entry.has('contact') ? readContact(entry) : undefined,
    }),
  }
  return { name, suffixes, rules, provider }
}

function readContact(entry: Entry): string {
  const text = entry.text('contact').text.trim()
  if (!/^https:\/\/[!-~]{1,300}$/.test(text) || !URL.canParse(text)) {
    throw entry.problem('contact', `"contact" must be an https URL (got ${JSON.stringify(text.slice(0, 60))})`)
  }
  return text
}

/** At least two labels: a suffix such as .com would be half of all hosts. */
function readSuffix({ text, file, line }: Located): Located {
  const name = text.toLowerCase()
  const shown = JSON.stringify(text.slice(0, 260))
  const labels = name.replace(/^\./, '').split('.')
  if (name.length > 254 || !labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label))) {
    throw new ProvidersError(file, line, `"mx" must be host names, or suffixes such as .google.com (got ${shown})`)
  }
  if (labels.length < 2) {
    throw new ProvidersError(file, line, `${shown} fits too many hosts; write at least two labels, such as .google.com`)
  }
  return { text: name, file, line }
}
