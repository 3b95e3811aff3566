/** Starts what every page has: keys, and what a page without scripts does by itself, done quicker. */

import { followKeys } from "./keys.js";
import { searchWhileTyping } from "./search.js";
import { offerCopies } from "./copies.js";
import { drawGraph } from "./graph.js";
import { fetchLater } from "./later.js";
import { offerPictures } from "./pictures.js";
import { followChanges } from "./live.js";

followKeys(document);
offerCopies(document);
searchWhileTyping(document);
followChanges(document);
drawGraph(document);
offerPictures(document);
fetchLater(document);
