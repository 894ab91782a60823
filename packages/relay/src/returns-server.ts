import { launch } from '@postrider/launch'

/** The process that receives bounce reports and complaints. */
await launch(new URL('./returns-process.ts', import.meta.url))
