import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const CORPUS = fileURLToPath(new URL('../../../shared/corpora/naughty-strings.json', import.meta.url))
const there = existsSync(CORPUS)

/** Strings that break what was not made with care; for tests to skip where they are not here. */
export const naughtyStrings: readonly string[] = there ? JSON.parse(readFileSync(CORPUS, 'utf8')) : []
export const skipWithoutThem = there ? {} : { skip: 'the corpora are not here' }
