import { fileURLToPath } from 'node:url'

/**
 * Where Node caches the sources with their types stripped and compiled. Loading core takes 0.7 s of processor time without the cache
 * and 0.35 s with it. It is not in the folder for temporary files, where other users could plant code. If it is not writable, as in
 * the image, every start compiles the sources again.
 */
export const COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url))
