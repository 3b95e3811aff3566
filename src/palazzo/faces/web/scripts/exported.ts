/** What a page in a file has: buttons that save its figures. The file opens without a server, so nothing is fetched. */

import { offerPictures } from "./pictures.js";

offerPictures(document);
