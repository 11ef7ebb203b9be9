import { defineCommand } from '@slipway/kube';

import { templateCommand } from './template.ts';

/** `slipway chart`. */
export const command = defineCommand({
  subcommands: {
    template: { summary: 'render a chart and print its manifests', command: templateCommand },
  },
  examples: [{ line: 'slipway chart template shop ./charts/web --set replicas=3' }],
});
