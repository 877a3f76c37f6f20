// The search of the site runs in a worker. Browsers start no worker for a page that was opened from the file system:
// there its script runs in a hidden frame instead. The theme would otherwise load such a class from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "Search";
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...addresses) => {
        for (const one of addresses) await this.load(one);
      };
      this.started = this.load(address);
    }

    /** Run a script in the frame; the promise is kept when it has run. */
    load(address) {
      const page = this.frame.contentDocument;
      return new Promise((resolve, reject) => {
        const script = page.createElement("script");
        script.src = new URL(address, location.href);
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${script.src} could not be loaded.`));
        page.head.append(script);
      });
    }

    async postMessage(data) {
      await this.started;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
