import { launch } from '@postrider/launch'

/** The sandbox process. */
await launch(new URL('./sandbox-process.ts', import.meta.url))
