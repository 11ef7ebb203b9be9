import type { Projection } from '../projection.ts';

export const apiServerProjection: Projection = {
  isConfigured: ({ mcp }) => mcp.spec?.components.apiServer !== undefined,
  spec({ mcp, internalConfiguration }) {
    const configured = mcp.spec!.components.apiServer!;
    const internal = internalConfiguration?.spec?.components?.apiServer;
    const { desiredRegion } = mcp.spec!;
    const gardener = configured.gardener ?? (configured.type === 'Gardener' ? {} : undefined);
    return {
      type: configured.type,
      ...(gardener ? { gardener } : {}),
      ...(internal ? { internal } : {}),
      ...(desiredRegion ? { desiredRegion } : {}),
    };
  },
  validate: (spec) =>
    spec['type'] === 'Gardener' || spec['type'] === 'GardenerDedicated'
      ? []
      : [{ field: 'type', message: `Unsupported value: "${String(spec['type'])}"` }],
  statusField: 'apiServer',
};
