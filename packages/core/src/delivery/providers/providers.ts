import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../../platform/config/config.ts'
import type { BackOffRule } from './back-off-rule.ts'
import { type Provider, type ProviderFile, parseProviderFile, requireDistinct } from './provider-file.ts'
import { ProvidersError } from './providers-error.ts'
import { MAX_FILE_BYTES, TOO_LARGE } from './yaml-tree.ts'

/** All providers and rules. */
export interface Providers {
  readonly all: readonly Provider[]
  /** Rules for the replies of all hosts. */
  readonly generalRules: readonly BackOffRule[]
  named(name: string): Provider | undefined
  /** Returns the provider of a host name (lower case, without a final dot). A host name goes before suffixes, a longer one before a shorter. */
  ofHost(host: string): Provider | undefined
  /** Returns the first rule that fits: the provider's own, then the general ones, which do not apply to `relay` and `sandbox`. */
  ruleFor(
    provider: Provider | undefined,
    reply: { readonly enhanced: string; readonly text: string },
  ): BackOffRule | undefined
}

const BUILT_IN = new URL('./providers.yaml', import.meta.url)
/** Length of a host name in DNS (RFC 1035 2.3.4). A longer one has no provider, which bounds the lookups. */
const MAX_HOST = 253
/** Destinations of DELIVERY=smtp:// and DELIVERY=sandbox. */
const ALWAYS = ['relay', 'sandbox']
const ALWAYS_CONNECTIONS = 40

let builtIn: { readonly content: ProviderFile; readonly providers: Providers } | undefined

/**
 * Reads the text of a file of providers by itself, without the built-in ones; only `relay` and `sandbox` are added if it lacks them.
 * Throws {@link ProvidersError} with file, line and problem.
 */
export function readProviders(text: string, file: string): Providers {
  return createProviders(parseProviderFile(text, file))
}

/** Returns the built-in providers. They are read once. */
export function defaultProviders(): Providers {
  return readBuiltIn().providers
}

/**
 * Returns the providers of the operator's file (PROVIDERS_FILE) on top of the built-in ones; undefined: only the built-in ones. A provider
 * replaces the built-in one of the same name as a whole. A general rule replaces the one with the same id; other general rules go
 * before the built-in ones, so that they can be more specific.
 *
 * Throws {@link ConfigError} with the name of the setting if the file is invalid.
 */
export function loadProviders(path: string | undefined, setting = 'PROVIDERS_FILE'): Providers {
  if (path === undefined) return defaultProviders()
  const base = readBuiltIn().content
  try {
    const own = parseProviderFile(readOwnFile(path, setting), path)
    const kept = {
      providers: base.providers.filter(({ name }) => !own.providers.some((other) => other.name.text === name.text)),
      rules: base.rules.filter(({ id }) => !own.rules.some((other) => other.id.text === id.text)),
    }
    requireDistinct(kept, own)
    return createProviders({
      providers: [...kept.providers, ...own.providers],
      rules: combinedRules(base.rules, own.rules),
    })
  } catch (error) {
    if (!(error instanceof ProvidersError)) throw error
    throw new ConfigError(setting, `is invalid: ${error.message}`)
  }
}

function combinedRules(base: ProviderFile['rules'], own: ProviderFile['rules']): ProviderFile['rules'] {
  const replacement = new Map(own.map((rule) => [rule.id.text, rule]))
  const rules = base.map((rule) => {
    const found = replacement.get(rule.id.text)
    replacement.delete(rule.id.text)
    return found ?? rule
  })
  return [...replacement.values(), ...rules]
}

function readOwnFile(path: string, setting: string): string {
  const invalid = (problem: string): ConfigError => new ConfigError(setting, `${problem} (${path})`)
  let bytes: Buffer
  try {
    const stat = statSync(path)
    // A device or a pipe may never end.
    if (!stat.isFile()) throw invalid('must be a file')
    if (stat.size > MAX_FILE_BYTES) throw new ProvidersError(path, 1, TOO_LARGE)
    bytes = readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined ? error : invalid(`must be a file that this user can read: ${code}`)
  }
  if (!isUtf8(bytes)) throw invalid('must be a file in UTF-8')
  return bytes.toString('utf8')
}

function readBuiltIn(): { readonly content: ProviderFile; readonly providers: Providers } {
  if (builtIn) return builtIn
  const content = parseProviderFile(readFileSync(BUILT_IN, 'utf8'), fileURLToPath(BUILT_IN))
  builtIn = { content, providers: createProviders(content) }
  return builtIn
}

function createProviders({ providers, rules }: ProviderFile): Providers {
  const all = providers.map(({ provider }) => provider)
  for (const name of ALWAYS) {
    if (all.some((provider) => provider.name === name)) continue
    all.push({ name, mx: [], connections: ALWAYS_CONNECTIONS, tlsRequired: false, rules: [] })
  }
  const generalRules = rules.map(({ rule }) => rule)
  const byName = new Map(all.map((provider) => [provider.name, provider]))
  const byHost = new Map(all.flatMap((provider) => provider.mx.map((suffix) => [suffix, provider] as const)))
  return {
    all,
    generalRules,
    named: (name) => byName.get(name),
    ofHost: (host) => findByHost(byHost, host),
    ruleFor: (provider, reply) => {
      const rules = [...(provider?.rules ?? []), ...(provider && ALWAYS.includes(provider.name) ? [] : generalRules)]
      return rules.find((rule) => rule.matches(reply))
    },
  }
}

function findByHost(byHost: ReadonlyMap<string, Provider>, host: string): Provider | undefined {
  if (host.length > MAX_HOST) return undefined
  let found = byHost.get(host)
  for (let dot = host.indexOf('.'); !found && dot !== -1; dot = host.indexOf('.', dot + 1)) {
    found = byHost.get(host.slice(dot))
  }
  return found
}
