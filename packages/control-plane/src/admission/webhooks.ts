import { deny, mutatingWebhook, validatingWebhook, type WebhookDefinition } from '@slipway/runtime';

import { ManagedControlPlane } from '../api/managed-control-plane.ts';
import { names } from '../names.ts';

/** Remembers who made a control plane, whatever they wrote themselves. */
const createdBy = mutatingWebhook({
  name: 'mmanagedcontrolplane.core.openmcp.cloud',
  kind: ManagedControlPlane,
  operations: ['CREATE', 'UPDATE'],
  mutate({ operation, object, user }) {
    if (operation !== 'CREATE') return;
    object.metadata.annotations = { ...object.metadata.annotations, [names.createdByAnnotation]: user.username };
  },
});

/** Keeps that, and lets nobody delete a control plane by mistake. */
const guarded = validatingWebhook({
  name: 'vmanagedcontrolplane.core.openmcp.cloud',
  kind: ManagedControlPlane,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  validate({ operation, name, object, old }) {
    if (operation === 'UPDATE') {
      const [before, after] = [old, object].map((each) => each?.metadata.annotations?.[names.createdByAnnotation]);
      return before === after ? undefined : deny(`annotation ${names.createdByAnnotation} is immutable`);
    }
    if (
      operation === 'DELETE' &&
      (old ?? object).metadata.annotations?.[names.deletionConfirmationAnnotation] !== 'true'
    ) {
      return deny(
        `ManagedControlPlane ${name} is not deleted without a confirmation: annotate it with ${names.deletionConfirmationAnnotation}=true first`,
      );
    }
    return undefined;
  },
});

export const webhooks: readonly WebhookDefinition[] = [createdBy, guarded];
