import type { Send } from '../differential/case.ts';
import { groups } from '../differential/groups.ts';
import { requestOf, type RawRequest } from './mutate.ts';

/** All requests of the differential test: real ones, of every kind. */
export const corpus: readonly RawRequest[] = groups
  .filter(({ name }) => !['watching', 'admission', 'controlling'].includes(name))
  .flatMap(({ cases }) => cases.flatMap(({ steps }) => steps.filter((step): step is Send => step.does === 'send')))
  .filter(({ path, body }) => !path.includes('99999999') && JSON.stringify(body ?? '').length < 100_000)
  .map(requestOf);
