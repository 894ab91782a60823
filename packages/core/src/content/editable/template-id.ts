import { randomUUID } from 'node:crypto'
import type { Generation } from './editable-template.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DYNAMIC = /^d-[0-9a-f]{32}$/

/** Returns the generation that the form of an id indicates; undefined if the id is malformed. */
export function generationOf(id: string): Generation | undefined {
  return DYNAMIC.test(id) ? 'dynamic' : UUID.test(id) ? 'legacy' : undefined
}

export function newTemplateId(generation: Generation): string {
  const id = randomUUID()
  return generation === 'dynamic' ? `d-${id.replaceAll('-', '')}` : id
}

export function isVersionId(id: string): boolean {
  return UUID.test(id)
}
