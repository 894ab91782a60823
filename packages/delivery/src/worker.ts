import { launch } from '@postrider/launch'

/** The delivery process. */
await launch(new URL('./delivery-process.ts', import.meta.url))
