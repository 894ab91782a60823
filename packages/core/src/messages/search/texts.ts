import type { AnySql } from '../../platform/database/database.ts'
import type { DeliveryTexts } from './entry.ts'

type Fragment = ReturnType<AnySql>

/** A delivery with its texts, as the statements below read it. */
export interface DeliveryRow extends DeliveryTexts {
  /** UUID. */
  readonly id: string
  readonly no: number
}

/** The columns of a {@link DeliveryRow}, of a message `m` and its delivery `d`. */
export const textColumns = (sql: AnySql): Fragment => sql`
  m.id::text as id, d.recipient_no as no, d.recipient, d.name, coalesce(d.own_subject, m.subject) as subject, m.tags,
  nullif(concat_ws(' ', d.reference, d.own_data), '') as reference,
  coalesce(d.own_from, m.from_address) as "from", coalesce(d.own_header, m.settings ->> 'messageId') as header`

/** Characters of the sender's own data that are searched; v3 allows 10,000 bytes of it. */
const OWN_DATA = 2048

/** The deliveries of the message `m`, finished or not, with what is needed for {@link textColumns}. */
export const deliveriesWithTexts = (sql: AnySql, condition: Fragment = sql``): Fragment => {
  const columns = sql`
    recipient_no, recipient, reference, personal -> 'names' ->> recipient as name, personal ->> 'subject' as own_subject,
    (select left(string_agg(value, ' '), ${OWN_DATA}::int) from jsonb_each_text(personal -> 'customArgs')) as own_data,
    personal -> 'from' ->> 'email' as own_from, personal ->> 'messageId' as own_header`
  return sql`
    select ${columns} from finished_deliveries where message_id = m.id ${condition}
    union all
    select ${columns} from delivery_queue where message_id = m.id ${condition}`
}
