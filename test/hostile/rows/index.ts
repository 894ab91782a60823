import { GENERATED } from '../generated.ts'
import { GENERATED_RELAY } from '../generated-relay.ts'
import type { Row } from '../row.ts'
import { FLOODS } from './floods.ts'
import { MCP } from './mcp.ts'
import { OPERATIONS } from './operations.ts'
import { PAGES } from './pages.ts'
import { RELAY } from './relay.ts'
import { SANDBOX } from './sandbox.ts'
import { TEMPLATES } from './templates.ts'
import { V2_FORMS } from './v2-forms.ts'
import { V2_JSON } from './v2-json.ts'
import { V3_MAIL } from './v3-mail.ts'
import { WORKER } from './worker.ts'

/** Every costly input we know of. */
export const ROWS: readonly Row[] = [
  ...V2_JSON,
  ...V2_FORMS,
  ...V3_MAIL,
  ...TEMPLATES,
  ...OPERATIONS,
  ...MCP,
  ...PAGES,
  ...GENERATED,
  ...GENERATED_RELAY,
  ...FLOODS,
  ...RELAY,
  ...WORKER,
  ...SANDBOX,
]
