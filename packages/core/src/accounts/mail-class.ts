/** Urgent mail goes first; of the rest, bulk mail gets less. The order is that of delivery_queue.class. */
export const DELIVERY_CLASSES = ['urgent', 'normal', 'bulk'] as const

export type ClassName = (typeof DELIVERY_CLASSES)[number]

/** The place of a class in {@link DELIVERY_CLASSES}. */
export type DeliveryClass = 0 | 1 | 2

export const URGENT = 0
export const NORMAL = 1
export const BULK = 2

/** Returns the number of a class; normal if undefined. */
export function classOf(name: string | undefined): DeliveryClass {
  const at = DELIVERY_CLASSES.indexOf(name as ClassName)
  return at === -1 ? NORMAL : (at as DeliveryClass)
}

/** Whether a text is the name of a class. */
export function isClassName(text: string): text is ClassName {
  return (DELIVERY_CLASSES as readonly string[]).includes(text)
}

/** The error of a wrong class. */
export const CLASS_PROBLEM = 'must be urgent, normal or bulk'
