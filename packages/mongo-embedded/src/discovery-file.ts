/** The file of a data folder that names the process, port and URI of the server that serves it. */
export const DISCOVERY_FILE = 'server.json';
