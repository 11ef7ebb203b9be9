import { invalid, validatingWebhook } from '@slipway/runtime';

import { Berth } from './api.ts';

/** A tag other than latest, or a digest. */
const namesVersion = /:(?!latest$)[^/]+$/;

/** Refuses what a schema cannot express. Certificates and registration are the manager's affair. */
export const berthWebhook = validatingWebhook({
  name: 'validate.berths.example.org',
  kind: Berth,
  validate: ({ object }) =>
    invalid(
      namesVersion.test(object.spec.image)
        ? []
        : [{ field: 'spec.image', message: 'must name a version: latest changes without anybody noticing' }],
    ),
});
