import type { OperatorDescription } from '@slipway/runtime';

/** One for each kind; `slipway add kind` puts its own at the end. */
const parts = [];

/** What the operator is: the command line, CRDs, permissions and the chart come from here. */
export const operator: OperatorDescription = {
  name: 'my-operator',
  title: 'My Operator',
  summary: 'Says in one sentence what its user gets.',
  kinds: parts.map((part) => part.kind),
  permissions: parts.flatMap((part) => part.permissions),
  webhooks: parts.flatMap((part) => part.webhooks),
  examples: parts.flatMap((part) => part.examples),
  reasons: parts.flatMap((part) => part.reasons),
  controllers: () => parts.flatMap((part) => part.controllers),
};
