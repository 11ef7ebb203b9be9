import { invalid, validatingWebhook } from '@slipway/runtime';

import { Berth } from './api.ts';

/** Refuses what a schema cannot express. Certificates and registration are the manager's affair. */
export const berthWebhook = validatingWebhook({
  name: 'validate.berths.example.org',
  kind: Berth,
  validate: ({ object }) =>
    invalid(
      object.spec.image.endsWith(':latest')
        ? [{ field: 'spec.image', message: 'must name a version: latest changes without anybody noticing' }]
        : [],
    ),
});
