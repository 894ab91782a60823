import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import { ProvidersError } from './providers-error.ts'

/** Position of a value in a file. */
interface At {
  readonly file: string
  /** Counted from 1. */
  readonly line: number
}

export interface YamlScalar extends At {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
}

export interface YamlList extends At {
  readonly kind: 'list'
  readonly items: readonly YamlNode[]
}

export interface YamlMap extends At {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, { readonly keyLine: number; readonly value: YamlNode }>
}

export type YamlNode = YamlScalar | YamlList | YamlMap

export const MAX_FILE_BYTES = 1024 * 1024
export const TOO_LARGE = 'the file is larger than 1 MiB; remove entries'
/** Lists and maps within each other: a provider's rule has its texts at depth 6. */
const MAX_DEPTH = 10

/**
 * Parses YAML 1.2 into values with their lines. Throws {@link ProvidersError} for invalid YAML, a key given twice, and for anchors,
 * aliases and tags: without them no file is larger in memory than it looks.
 */
export function parseYaml(text: string, file: string): YamlNode {
  const fail = (line: number, problem: string): never => {
    throw new ProvidersError(file, line, problem)
  }
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) fail(1, TOO_LARGE)
  const yaml = library()
  const lines = new yaml.LineCounter()
  const lineOf = (offset: number): number => Math.max(1, lines.linePos(offset).line)
  // The library compares each key with all before it. It takes seconds for a map of some ten thousand keys; `toMap` has a set.
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const [error] = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0])
  if (error) fail(lineOf(error.pos[0]), explain(error))
  if (document.contents === null) fail(1, 'the file is empty; write "providers:" or "rules:" with a list')

  const toNode = (node: unknown, parentLine: number, depth: number): YamlNode => {
    if (!yaml.isNode(node)) return { kind: 'scalar', file, line: parentLine, value: null }
    const line = node.range ? lineOf(node.range[0]) : parentLine
    if (yaml.isAlias(node)) fail(line, ALIAS)
    if ('anchor' in node && node.anchor) fail(line, `remove the anchor &${node.anchor}; every entry is written out`)
    if (depth > MAX_DEPTH) fail(line, 'nested too deeply')
    if (yaml.isMap(node)) return toMap(node, line, depth)
    if (yaml.isSeq(node)) {
      return { kind: 'list', file, line, items: node.items.map((item) => toNode(item, line, depth + 1)) }
    }
    return { kind: 'scalar', file, line, value: (node as Yaml.Scalar<YamlScalar['value']>).value }
  }

  const toMap = (map: Yaml.YAMLMap, mapLine: number, depth: number): YamlMap => {
    const entries: Map<string, { keyLine: number; value: YamlNode }> = new Map()
    for (const { key, value } of map.items) {
      const name = toNode(key, mapLine, depth + 1)
      const named = name.kind === 'scalar' ? String(name.value) : fail(name.line, 'a key must be a word')
      if (entries.has(named)) fail(name.line, `the key "${named}" is given twice; remove one of them`)
      entries.set(named, { keyLine: name.line, value: toNode(value, name.line, depth + 1) })
    }
    return { kind: 'map', file, line: mapLine, entries }
  }

  return toNode(document.contents, 1, 0)
}

const ALIAS = 'a text that begins with * must be in quotes'

function explain({ code, message }: Yaml.YAMLError): string {
  if (code === 'BAD_ALIAS') return ALIAS
  if (code === 'MULTIPLE_DOCS') return 'remove the line "---"; a file has one document'
  return `not valid YAML: ${message}`
}

/** Loaded on first use, because most processes never read the file: 15 to 50 ms at their start. */
function library(): typeof Yaml {
  return createRequire(import.meta.url)('yaml') as typeof Yaml
}
