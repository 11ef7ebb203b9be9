import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { permissionsOf } from '@slipway/runtime';

import { Berth } from './api.ts';
import { berthController } from './controller.ts';
import { berthReasons } from './readiness.ts';

const example = join(import.meta.dirname, '..', '..', 'examples', 'berth.yaml');

/** What the kind Berth adds to the operator. */
export const berthPart = {
  kind: Berth,
  controllers: [berthController],
  // Derived from what the controller declares; what it does besides goes into the list. The test finds what is missing or too much.
  permissions: permissionsOf([berthController], []),
  reasons: berthReasons.explanations,
  webhooks: [],
  examples: [{ name: 'berth', description: 'a Berth with two replicas', manifest: readFileSync(example, 'utf8') }],
};
