import type { Row } from '../row.ts'
import { V2_JSON } from './v2-json.ts'

/** Every costly input we know of. */
export const ROWS: readonly Row[] = [...V2_JSON]
