import { launch } from '@postrider/launch'

/** The API process. */
await launch(new URL('./api-process.ts', import.meta.url))
