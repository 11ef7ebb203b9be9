import { parts } from '../../cloud-orchestrator/parts.ts';
import type { Projection } from '../projection.ts';

/** Five siblings of the spec that are one component. */
export const cloudOrchestratorProjection: Projection = {
  isConfigured: ({ mcp }) => parts.some((part) => mcp.spec?.components[part] !== undefined),
  spec: ({ mcp }) =>
    Object.fromEntries(
      parts.flatMap((part) => {
        const configured = mcp.spec!.components[part];
        return configured === undefined ? [] : [[part, configured]];
      }),
    ),
  statusField: 'cloudOrchestrator',
};
