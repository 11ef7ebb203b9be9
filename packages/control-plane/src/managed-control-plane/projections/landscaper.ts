import type { Projection } from '../projection.ts';

export const landscaperProjection: Projection = {
  isConfigured: ({ mcp }) => mcp.spec?.components.landscaper !== undefined,
  spec: ({ mcp }) => ({ deployers: mcp.spec!.components.landscaper!.deployers ?? ['helm', 'manifest', 'container'] }),
  statusField: 'landscaper',
};
