import { launch } from '@postrider/launch'

/** The relay process. */
await launch(new URL('./relay-process.ts', import.meta.url))
