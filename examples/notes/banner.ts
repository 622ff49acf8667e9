/** The start-up text: an address, and requests to paste. */
export const banner = (url: string): string => `
  API  ${url}/api

Ann writes a note:
  curl -X POST ${url}/api/notes -H 'Authorization: Bearer ann' -H 'Content-Type: application/json' -d '{"title":"Tea","text":"Green."}'

She sees it, Bob does not:
  curl '${url}/api/notes?include=author' -H 'Authorization: Bearer ann'
  curl '${url}/api/notes?include=author' -H 'Authorization: Bearer bob'

Stop with Ctrl-C.
`;
