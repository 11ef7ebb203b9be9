export const directoryArgument = [{ name: 'dir', summary: 'its folder', required: true }] as const;
