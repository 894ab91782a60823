import { launch } from '@postrider/launch'

/** The command `postrider`. */
await launch(new URL('./command-process.ts', import.meta.url))
