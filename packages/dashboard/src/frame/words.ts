/** The catalogue of words; those of each page are next to it. */
export { catalogue } from '@postrider/ui'
