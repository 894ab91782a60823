export { contentHeaders, PAGE_HEADERS } from '@postrider/ui'
