import { writeFileSync } from 'node:fs'
import { page } from '../hostile/patterns/page.ts'
import { prove } from '../hostile/patterns/proofs.ts'
import { patternsOf } from '../hostile/patterns/scan.ts'

/** Writes docs/patterns.md, and proves what is new. */
const patterns = patternsOf()
writeFileSync(new URL('../../docs/patterns.md', import.meta.url), page(patterns, prove(patterns)))
