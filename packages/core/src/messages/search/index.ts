export { addSubjectBeginning, addToSearch, parseSearch } from './parse-search.ts'
export { MET, type MessageSearch, type Met, SEARCH_KEYS, type SearchKey, STATE_GROUPS } from './search.ts'
export { SearchError, type SearchProblem } from './search-error.ts'
export { readSearchTime, type SearchClock } from './times.ts'
